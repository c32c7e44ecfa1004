/**
 * Streams: entries under IDs, ranges, trimming, and reads that wait for new entries.
 *
 * <p>This package holds the stream value, packed or as a tree, and the commands without consumer groups.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.stream;
