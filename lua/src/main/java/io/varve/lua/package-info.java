/**
 * Values, state and limits of the Lua engine. A Java null is Lua's nil, so nearly every reference here may be null.
 */
@org.jspecify.annotations.NullUnmarked
package io.varve.lua;
