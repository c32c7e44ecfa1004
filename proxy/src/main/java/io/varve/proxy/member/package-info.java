/**
 * Connections to members: shared ones with pipelines, dedicated ones for one client, and the health of members.
 *
 * <p>This package must not know slots, commands or clients.
 */
@org.jspecify.annotations.NullMarked
package io.varve.proxy.member;
