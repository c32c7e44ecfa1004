/**
 * The ACL command: users and their rules.
 *
 * <p>This package holds the commands. It must not hold the users and the check of their rules
 * ({@code io.varve.server.acl}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.acl;
