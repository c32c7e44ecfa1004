package io.varve.flash.tier;

/** Is shown what is on flash. */
@FunctionalInterface
public interface RecordVisitor {
    /**
     * @param key  an item's key, which is the visitor's to keep
     * @param type the code of its type
     * @return whether it is to be shown more
     */
    boolean visit(byte[] key, int type);
}
