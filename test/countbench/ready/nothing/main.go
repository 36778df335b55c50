// Command nothing makes no contender ready.
package main

import "github.com/tokenfare/tokenfare/test/countbench/ready"

func main() { ready.Main(ready.Nothing) }
