/**
 * The base of the libraries of scripts.
 * A Java null is Lua's nil, so nearly every reference here may be null.
 */
@org.jspecify.annotations.NullUnmarked
package io.varve.lua.lib.base;
