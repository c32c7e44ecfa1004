package io.varve.memory.index.vector;

import io.varve.memory.index.ScalarTagScanner;
import io.varve.memory.index.TagScanner;

/** Chooses the tag scanner of this Java virtual machine. Immutable: static methods only. */
public final class TagScanners {
    private static final String VECTOR_MODULE = "jdk.incubator.vector";

    private TagScanners() {}

    /** The vector scanner if the Vector API's module is resolved, else the scalar one. */
    public static TagScanner best() {
        return ModuleLayer.boot().findModule(VECTOR_MODULE).isEmpty() ? new ScalarTagScanner() : vector();
    }

    /** A separate method, so that the class that needs the module is loaded only after the module was found. */
    private static TagScanner vector() {
        return new VectorTagScanner();
    }
}
