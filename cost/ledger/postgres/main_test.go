package postgres

import (
	"os"
	"testing"

	"github.com/tokenfare/tokenfare/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
