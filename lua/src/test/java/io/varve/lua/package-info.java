/** Tests of the Lua engine. */
@org.jspecify.annotations.NullUnmarked
package io.varve.lua;
