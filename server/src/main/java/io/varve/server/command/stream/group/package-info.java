/**
 * Consumer groups of streams: their records, deliveries, acknowledgments and claims, and XINFO.
 *
 * <p>This package holds the commands that use groups. Entries and the stream value belong to the package above.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.stream.group;
