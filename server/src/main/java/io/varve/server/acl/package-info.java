/**
 * Users: who may run which commands on which keys and channels.
 *
 * <p>Lives here: users and their rules, how rules are read and told, the check of a request against them, passwords (as
 * hashes alone), the log of what was denied. Must not live here: what a command is ({@link io.varve.server.acl.CommandNames}
 * and {@link io.varve.server.acl.AccessRequest} are all that is known of it), sockets, replies.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.acl;
