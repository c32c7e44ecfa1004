package io.varve.flash.tier;

/** Visits items on flash. Confined to the thread that scans. */
@FunctionalInterface
public interface RecordVisitor {
    /**
     * @param key an item's key, owned by the visitor
     * @param type the code of its type
     * @return whether it wants more
     */
    boolean visit(byte[] key, int type);
}
