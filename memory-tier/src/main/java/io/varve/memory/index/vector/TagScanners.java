package io.varve.memory.index.vector;

import io.varve.memory.index.ScalarTagScanner;
import io.varve.memory.index.TagScanner;

/** Chooses the tag scanner of this Java virtual machine. Immutable: static methods only. */
public final class TagScanners {
    private static final String VECTOR_MODULE = "jdk.incubator.vector";

    private TagScanners() {}

    /** The vector scanner where the Vector API's module is resolved, the scalar one elsewhere. */
    public static TagScanner best() {
        return ModuleLayer.boot().findModule(VECTOR_MODULE).isEmpty() ? new ScalarTagScanner() : vector();
    }

    /** In a method of its own, so that the class which needs the module is loaded only after it was found. */
    private static TagScanner vector() {
        return new VectorTagScanner();
    }
}
