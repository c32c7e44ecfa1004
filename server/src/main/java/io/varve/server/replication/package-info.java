/**
 * Replicas of this server: the backlog of the change stream, their connections' output, and how far each of them is.
 *
 * <p>Must not live here: commands and channels.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.replication;
