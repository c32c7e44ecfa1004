package io.varve.lua.syntax;

import java.util.List;

/** Statements with a scope of their own. Immutable. */
public record Block(List<Statement> statements) {}
