/** The syntax of Lua 5.1: from bytes to a tree of records with resolved variables, which other code may inspect. */
@org.jspecify.annotations.NullMarked
package io.varve.lua.syntax;
