package io.varve.flash.tier;

/** Is shown what is on flash. */
@FunctionalInterface
public interface RecordVisitor {
    /**
     * @param key  an item's key, which is the visitor's to keep
     * @param type the code of its type
     */
    void visit(byte[] key, int type);
}
