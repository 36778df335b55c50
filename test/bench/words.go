package main

import "strings"

// What prompts are made of: office prose, lists, some JSON and some code, as people paste them. Escaped for JSON already. Gaps are
// explained at appendSentence.
var sentences = []string{
	`<n> wrote on the <d>th that the <a> <t> for <p> had to be <v> before anyone could say what it would cost.`,
	`Please compare the <t> of <p> with last year's, and tell me where more than $<m> went missing.`,
	`According to <n>, nobody in <p> has <v> the <t> since the office moved.`,
	`\"We never <v> that <t>,\" said <n>; \"it was <a> from the beginning, and $<m> was far too much for it.\"`,
	`If the <t> is <a>, then the <t> must have been <v> twice: once in <p> and once here.`,
	`- <t>: <d> pieces at $<m> each, <v> by <n>\n- <t>: <d> pieces at $<m> each, <v> by <n>\n`,
	`The auditors asked three questions. Who <v> the <t>? Why was the <a> <t> left out? And what happened to the $<m> from <p>?`,
	`{\"id\": \"<h><h>\", \"customer\": \"<n>\", \"city\": \"<p>\", \"amount\": <m>, \"items\": [<d>, <d>, <d>], \"status\": \"<v>\"}`,
	`{\"event\": \"<t>.<v>\", \"at\": \"2026-09-14T08:<d>Z\", \"by\": \"<n>\", \"trace\": \"<h><h><h>\", \"retry\": false}`,
	`func total(rows []<t>) (sum float64) {\n\tfor _, r := range rows {\n\t\tif r.City == \"<p>\" { sum += r.Amount }\n\t}\n\treturn sum // was <m>\n}\n`,
	`I don't think it's <n>'s fault; they'd have <v> it if the <t> hadn't been so <a>, wouldn't they?`,
	`See https://intranet.example.com/<p>/<t>?ref=<h>&page=<d> for the <a> version, which <n> <v> in spring.`,
	`Everything else was <a>: the <t>, the <t>, even the <t> that <p> sent back with a note for <n>.`,
	`In the meantime <p> has grown by <d> per cent, and its <t> has become <a> enough that $<m> no longer covers it.`,
	`Could you draft a short, friendly letter to <n> in <p> that explains why the <t> was <v>, without promising anything about the <a> <t>?`,
	`Year\tPlace\tAmount\n20<d>\t<p>\t<m>\n20<d>\t<p>\t<m>\n20<d>\t<p>\t<m>\n`,
	`What remains is <a> — <d> boxes of <t>, none of which were <v>, and one <t> that belongs to <n>.`,
	`WHERE t.city = '<p>' AND t.amount > <m> AND t.note NOT LIKE '%<t>%' ORDER BY t.created_at DESC LIMIT <d>;`,
}

var (
	names = strings.Fields(`Abernathy Adeyemi Andersson Banerjee Bertolucci Castellanos Chaudhry Dąbrowski Delacroix Eriksen Fitzgerald
		Gallagher Haverkamp Hernández Ishikawa Jovanović Kowalczyk Lindqvist Macpherson Mbeki Nakamura Oyelaran Papadopoulos
		Quigley Rasmussen Sørensen Tchaikovsky Underwood Vanderbilt Whitcombe Yılmaz Zimmermann`)
	places = strings.Fields(`Aberdeen Antwerp Bergamo Bratislava Cartagena Chattanooga Düsseldorf Edinburgh Fukuoka Gdańsk Halifax
		Innsbruck Jakarta Kaohsiung Ljubljana Marrakesh Nottingham Osaka Philadelphia Québec Rotterdam Sacramento Thessaloniki
		Utrecht Valparaíso Wellington Yokohama Zürich`)
	things = strings.Fields(`allowance appraisal blueprint brochure calendar certificate consignment contract correspondence dashboard
		deposit estimate forecast freight guarantee inventory invoice itinerary ledger maintenance manifest memorandum negotiation
		overdraft packaging paperwork pension prospectus quotation rebate reimbursement renovation scaffolding schedule settlement
		shipment spreadsheet stationery subscription tender turbine upholstery voucher warehouse warranty workshop`)
	adjectives = strings.Fields(`abundant ambiguous anticipated bureaucratic comprehensive conspicuous delayed duplicate elaborate expensive
		fragile generous handwritten illegible incomplete inexpensive intermittent irreversible meticulous negligible notorious
		obsolete overdue peculiar plausible preliminary questionable redundant reluctant rigorous seasonal spacious superfluous
		tedious temporary unanimous unprecedented unreliable vague worthwhile`)
	verbs = strings.Fields(`acknowledged adjusted amended approved archived assembled authorised cancelled catalogued certified
		commissioned countersigned criticised dismantled distributed earmarked evaluated forwarded harmonised inspected
		itemised mislaid negotiated overlooked photocopied postponed prioritised reconciled refurbished reimbursed relabelled
		rescheduled scrutinised shredded subsidised summarised transferred translated underestimated verified withdrawn`)
)
