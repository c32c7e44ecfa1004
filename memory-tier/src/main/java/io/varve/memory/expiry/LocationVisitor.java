package io.varve.memory.expiry;

/** A callback for the location of each item that expires. Confined to the caller of {@link Expiry#forEach}. */
@FunctionalInterface
public interface LocationVisitor {
    /** Must not change the expiry that is being walked. */
    void visit(long location);
}
