package io.varve.server.script;

/**
 * The libraries of the server. Thread-safe: readers take the present set, and writers exclude each other.
 *
 * <p>Commands change it under the locks of all shards, so that a snapshot of the keys belongs to one set of libraries,
 * and the change stream has their changes in order.
 */
public final class FunctionLibraries {
    /** Libraries may take this part of the heap, and one source an eighth of that. Redis has no such limit. */
    private static final int HEAP_PART = 8;
    private static final int SOURCE_PART = 8;

    private final long maxBytes;
    private final LibraryLoader loader;
    private volatile LibrarySet current = LibrarySet.EMPTY;

    /** The policies of a restore for libraries that exist. */
    public enum Collision {
        /** All libraries are removed first. */
        FLUSH,
        /** A library of the same name is an error. */
        APPEND,
        /** A library of the same name is replaced. */
        REPLACE
    }

    FunctionLibraries(LibraryLoader loader) {
        this(loader, Runtime.getRuntime().maxMemory() / HEAP_PART);
    }

    /** @param maxBytes the heap that libraries may take, bytes */
    FunctionLibraries(LibraryLoader loader, long maxBytes) {
        this.loader = loader;
        this.maxBytes = maxBytes;
    }

    /** The present libraries. */
    public LibrarySet current() {
        return current;
    }

    /**
     * FUNCTION LOAD.
     *
     * @param replaces whether it takes the place of a library of its name
     * @param isLimited whether its code has to end soon; log and primary have run it before
     * @return its name
     * @throws ScriptException if it is invalid, or if there is no memory for it
     */
    public synchronized String load(byte[] source, boolean replaces, boolean isLimited) throws ScriptException {
        FunctionLibrary library = compile(source, current, replaces, isLimited);
        publish(current.with(library));
        return library.name();
    }

    /** FUNCTION DELETE. @return false if there is no such library */
    public synchronized boolean delete(String name) {
        boolean exists = current.library(name) != null;
        current = exists ? current.without(name) : current;
        return exists;
    }

    /** FUNCTION FLUSH. */
    public synchronized void flush() {
        current = LibrarySet.EMPTY;
    }

    /**
     * Adds a library to a set that is not published yet.
     *
     * @param isLimited whether its code has to end soon
     * @throws ScriptException if it is invalid, if the set has one of its names, or if there is no memory for it
     */
    public LibrarySet add(LibrarySet loaded, byte[] source, boolean isLimited) throws ScriptException {
        LibrarySet all = loaded.with(compile(source, loaded, false, isLimited));
        requireMemory(all);
        return all;
    }

    /**
     * FUNCTION RESTORE: takes over all libraries, or none.
     *
     * @throws ScriptException if names collide, or if there is no memory for them
     */
    public synchronized void restore(LibrarySet loaded, Collision collision) throws ScriptException {
        publish(collision == Collision.FLUSH
                ? loaded
                : current.with(loaded, collision == Collision.REPLACE));
    }

    /** Replaces all libraries by those of a file. */
    public synchronized void replaceAll(LibrarySet loaded) {
        current = loaded;
    }

    private FunctionLibrary compile(byte[] source, LibrarySet into, boolean replaces, boolean isLimited)
            throws ScriptException {
        requireSize(source.length);
        LibraryHeader header = LibraryHeader.of(source);
        if (!replaces && into.library(header.name()) != null) {
            throw new ScriptException("ERR Library '" + header.name() + "' already exists");
        }
        return loader.load(header, source, isLimited);
    }

    /** @throws ScriptException if the source of a library is too long */
    public void requireSize(long bytes) throws ScriptException {
        if (bytes > maxBytes / SOURCE_PART) {
            throw new ScriptException("OOM the source of the library is longer than " + maxBytes / SOURCE_PART
                    + " bytes: a larger heap of the server allows longer ones");
        }
    }

    private void publish(LibrarySet all) throws ScriptException {
        requireMemory(all);
        current = all;
    }

    private void requireMemory(LibrarySet all) throws ScriptException {
        if (all.heapBytes() > maxBytes) {
            throw new ScriptException("OOM the memory for libraries is used up: FUNCTION DELETE frees it, or a larger"
                    + " heap of the server");
        }
    }
}
