package docs

// Written has [Reference] read the text that scenarios.md has now: a program has the one with which it was compiled.
func Written(text string) { scenariosPage = text }
