// Package lua51 makes the Lua of scripts that of Redis, which is 5.1 with the numbers of C, where gopher-lua
// differs from it: how numbers become text and text numbers, string.format, table.concat, table.sort,
// the library cjson, and words that later versions of Lua have added.
package lua51
