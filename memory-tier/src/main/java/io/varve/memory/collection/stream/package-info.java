/** The byte formats of streams: listpacks, blocks of entries, metadata, and the keys of group records. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.collection.stream;
