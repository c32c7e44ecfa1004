/** Tests which member of a cluster a command belongs to. */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.redirect;
