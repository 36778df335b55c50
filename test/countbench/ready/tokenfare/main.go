// Command tokenfare makes ready the contender of that name.
package main

import (
	"github.com/tokenfare/tokenfare/test/countbench/contenders/tokenfare"
	"github.com/tokenfare/tokenfare/test/countbench/ready"
)

func main() { ready.Main(tokenfare.New) }
