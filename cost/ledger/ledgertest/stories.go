package ledgertest

var stories = []story{
	{"an empty ledger", empty},
	{"every field is read back", everyField},
	{"what is not there is not found", nothingFound},
	{"order and bounds", orderAndBounds},

	{"a batch is written whole", allOrNothing},
	{"a batch is written once", committedTwice},
	{"a batch whose outcome is unknown", outcomeUnknown},
	{"a batch that does not follow", notInOrder},
	{"a batch of a past life", pastLife},

	{"crashes are charged once", crashed},
	{"a batch that is lost", lostBatch},
	{"the oldest that is open", oldestOpen},
	{"a clock that is set back", clockSetBack},

	{"sums are those of the rows", sumsOfRows},
	{"a correction of what was dropped", correctedAfterwards},
	{"what budgets were charged", datesOfSpends},
	{"slots", sumsOfSlots},
	{"sums that do not fit", sumsThatDoNotFit},

	{"pruning", prune},
	{"pruning what is corrected", pruneCorrected},
	{"pruning the last hour", pruneRecent},
	{"summing up old slots", compact},

	{"notices", noticesOnce},
	{"notices of long ago", noticesGo},
	{"owned objects", ownedByKey},
	{"many owned objects", ownedMany},
	{"owned objects that grow", ownedGrows},
	{"owned objects that are deleted", ownedGoes},
	{"owned objects of long ago", ownedForgotten},
	{"refusals", refusalsAddUp},
	{"a budget of two units", twoUnits},
	{"snapshots", snapshots},
	{"snapshots that are closed", closedSnapshots},
	{"many readers", manyReaders},

	{"several writers", severalWriters},
	{"the dead are adopted", adopted},
	{"a writer that is idle", idleWriter},
}

var writerStories = []story{
	{"hostile texts", hostileTexts},
	{"extreme figures", extremeFigures},
	{"many callers", manyCallers},
	{"processes that die", dyingProcesses},
}
