/**
 * Logs in memory that clients read with a command, such as SLOWLOG GET.
 *
 * <p>Lives here: the limit on the number of entries, their order and their ids. Must not live here: the contents of an
 * entry (packages {@code acl} and {@code admin.latency}), or the log file of the process (package {@code admin}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.log;
