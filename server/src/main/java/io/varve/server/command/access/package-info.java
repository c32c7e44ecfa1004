/** The keys, channels and commands that a request uses, as ACL rules see them. */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.access;
