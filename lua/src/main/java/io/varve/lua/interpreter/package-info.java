/**
 * Runs programs: trees of immutable nodes, built from syntax. A Java null is Lua's nil, so nearly every reference here
 * may be null.
 */
@org.jspecify.annotations.NullUnmarked
package io.varve.lua.interpreter;
