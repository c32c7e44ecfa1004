/**
 * Who waits for which key: clients whose command found nothing (BLPOP and its relatives), in the order in which they came.
 *
 * <p>Lives here: the queues, who is called when something comes, and the barrier at which commands that name no key wait until nothing
 * is promised. Must not live here: what a command takes from a key, and
 * how it is replied (room {@code command}); event loops and timers (room {@code net}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.blocking;
