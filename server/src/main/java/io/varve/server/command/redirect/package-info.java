/** Decides whether this member of a cluster serves the keys of a command, and where its client has to go otherwise. */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.redirect;
