// Command tokenizer makes ready the contender of that name.
package main

import (
	"github.com/tokenfare/tokenfare/test/countbench/contenders/tokenizer"
	"github.com/tokenfare/tokenfare/test/countbench/ready"
)

func main() { ready.Main(tokenizer.New) }
