/** Fetches the keys of a command from flash before it runs. */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.flash;
