/** The state of one client: its connection, its transaction, the keys that it watches, and its parked command. */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.session;
