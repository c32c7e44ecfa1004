/**
 * SUBSCRIBE, PUBLISH and PUBSUB, and which channels a user's rules leave to those who listen.
 *
 * <p>Lives here: the commands. Must not live here: who listens to what, and the messages on their way ({@code
 * io.varve.server.pubsub}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.pubsub;
