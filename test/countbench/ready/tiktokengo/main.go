// Command tiktokengo makes ready the contender of that name.
package main

import (
	"github.com/tokenfare/tokenfare/test/countbench/contenders/tiktokengo"
	"github.com/tokenfare/tokenfare/test/countbench/ready"
)

func main() { ready.Main(tiktokengo.New) }
