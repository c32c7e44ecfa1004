/**
 * Users: who may run which commands on which keys and channels.
 *
 * <p>Lives here: users and their rules, the parser and formatter of rules, the check of a request, passwords (hashes
 * only), the log of denials. Must not live here: the definition of a command ({@link io.varve.server.acl.CommandNames}
 * and {@link io.varve.server.acl.AccessRequest} are the only view of it), sockets, replies.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.acl;
