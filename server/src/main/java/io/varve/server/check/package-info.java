/**
 * Checks RDB files and logs without a server: the verbs {@code check-rdb} and {@code check-log}, and the repaired copy
 * of a log. Must not know commands, settings or the network: packages {@code rdb} and {@code persistence} read the
 * files.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.check;
