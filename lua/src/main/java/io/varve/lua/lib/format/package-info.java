/**
 * Libraries for data formats: cjson, cmsgpack and struct.
 * A Java null is Lua's nil, so nearly every reference here may be null.
 */
@org.jspecify.annotations.NullUnmarked
package io.varve.lua.lib.format;
