/**
 * Blocked clients by key: clients whose command found nothing (BLPOP and its relatives), in order of arrival.
 *
 * <p>This package holds the queues, and the order in which clients are served after a change. It must not hold how a
 * command takes elements or replies (package {@code command}), nor event loops and timers (package {@code net}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.blocking;
