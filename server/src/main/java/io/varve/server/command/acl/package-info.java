/**
 * ACL: users and their rules.
 *
 * <p>Lives here: the commands. Must not live here: the users and the check of their rules ({@code io.varve.server.acl}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.acl;
