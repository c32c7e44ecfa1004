/**
 * SUBSCRIBE, PUBLISH and PUBSUB, and the ACL check of subscriptions.
 *
 * <p>This package holds the commands. It must not hold the subscriptions and the delivery of messages
 * ({@code io.varve.server.pubsub}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.pubsub;
