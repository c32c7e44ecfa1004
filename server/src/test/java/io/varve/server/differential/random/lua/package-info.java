/**
 * Random Lua programs for the scripts of the differential tests.
 *
 * <p>This package holds the drawing of programs. It must not hold the commands that run them (package {@code random}).
 */
package io.varve.server.differential.random.lua;
