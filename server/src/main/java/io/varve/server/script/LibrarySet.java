package io.varve.server.script;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** Libraries that are loaded together, whose functions have different names. Immutable. */
public final class LibrarySet {
    /** No library. */
    public static final LibrarySet EMPTY = new LibrarySet(Map.of());

    /** By name, in the order in which they were loaded. */
    private final Map<String, FunctionLibrary> libraries;
    /** By name in lower case: as in Redis, FCALL ignores the case of a name. */
    private final Map<String, LibraryFunction> functions = new HashMap<>();
    private final long heapBytes;

    private LibrarySet(Map<String, FunctionLibrary> libraries) {
        this.libraries = Collections.unmodifiableMap(libraries);
        long bytes = 0;
        for (FunctionLibrary library : libraries.values()) {
            bytes += library.heapBytes();
            library.functions().forEach(function -> functions.put(lower(function.name()), function));
        }
        heapBytes = bytes;
    }

    private static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }

    /** All libraries, in the order in which they were loaded. */
    public Collection<FunctionLibrary> libraries() {
        return libraries.values();
    }

    /** The library of this name; null if there is none. */
    public @Nullable FunctionLibrary library(String name) {
        return libraries.get(name);
    }

    /** The function of this name in any case; null if there is none. */
    public @Nullable LibraryFunction function(String name) {
        return functions.get(lower(name));
    }

    /** The number of functions. */
    public int functionCount() {
        return functions.size();
    }

    /** Approximate heap size, bytes. */
    public long heapBytes() {
        return heapBytes;
    }

    /**
     * The set with another library, which takes the place of one of its name.
     *
     * @throws ScriptException if a function has the name of another library's
     */
    LibrarySet with(FunctionLibrary added) throws ScriptException {
        for (LibraryFunction function : added.functions()) {
            LibraryFunction present = function(function.name());
            if (present != null && !present.library().name().equals(added.name())) {
                throw new ScriptException("ERR Function " + function.name() + " already exists");
            }
        }
        Map<String, FunctionLibrary> all = new LinkedHashMap<>(libraries);
        all.remove(added.name());
        all.put(added.name(), added);
        return new LibrarySet(all);
    }

    /** The set without the library of this name. */
    LibrarySet without(String name) {
        Map<String, FunctionLibrary> all = new LinkedHashMap<>(libraries);
        all.remove(name);
        return new LibrarySet(all);
    }

    /**
     * The set with all libraries of another one.
     *
     * @param replaces whether they take the places of those of their names
     * @throws ScriptException if names collide
     */
    LibrarySet with(LibrarySet added, boolean replaces) throws ScriptException {
        LibrarySet all = this;
        for (FunctionLibrary library : added.libraries()) {
            if (library(library.name()) == null) {
                continue;
            }
            if (!replaces) {
                throw new ScriptException("ERR Library " + library.name() + " already exists");
            }
            all = all.without(library.name());
        }
        for (FunctionLibrary library : added.libraries()) {
            all = all.with(library);
        }
        return all;
    }
}
