package io.varve.flash.tier;

import io.varve.flash.policy.Policies;

/**
 * The settings of the flash tier. Immutable.
 *
 * @param maxItems maximum number of items, 1 or more
 * @param maxBytes approximate maximum size of its files; 0 for no limit
 * @param policy chooses the items to evict
 * @param admission chooses the demoted items to take
 * @param probability the probability of admission, if admission is random: above 0 and at most 1
 * @param sync whether invalidations and demoted items are on the device before they are acknowledged
 * @param threads number of workers, a power of two
 * @param queueBytes maximum size of demoted items that are not written yet: further ones are lost
 * @param maxItemBytes largest value that is taken
 * @param minFreeBytes minimum free space of the device: while less is free, no item is taken
 */
public record FlashTierSettings(long maxItems, long maxBytes, Policies policy, Admission.Kind admission,
        double probability, boolean sync, int threads, long queueBytes, int maxItemBytes, long minFreeBytes) {
    /** A store that keeps less than this free for itself can still remove items when none are added. */
    private static final long MIN_FREE_BYTES = 128L << 20;
    private static final int THREADS = 2;
    private static final long QUEUE_BYTES = 8L << 20;
    private static final int MAX_ITEM_BYTES = 1 << 20;

    /** @throws IllegalArgumentException if a number is out of its range */
    public FlashTierSettings {
        if (maxItems < 1 || maxBytes < 0 || threads < 1 || Integer.bitCount(threads) != 1 || queueBytes < 1
                || maxItemBytes < 1 || !(probability > 0 && probability <= 1)) {
            throw new IllegalArgumentException(
                    "Invalid settings of a flash tier: " + maxItems + " items and " + maxBytes + " bytes, with "
                            + threads + " threads, a queue of " + queueBytes + " bytes, items of up to " + maxItemBytes
                            + " bytes and a probability of " + probability);
        }
    }

    /** The settings for a number of items, with TBF, full admission, and writes handed to the system. */
    public static FlashTierSettings of(long maxItems) {
        return new FlashTierSettings(maxItems, 0, Policies.TBF, Admission.Kind.ALL, 1, false, THREADS, QUEUE_BYTES,
                MAX_ITEM_BYTES, MIN_FREE_BYTES);
    }

    public FlashTierSettings withPolicy(Policies chosen) {
        return new FlashTierSettings(maxItems, maxBytes, chosen, admission, probability, sync, threads, queueBytes,
                maxItemBytes, minFreeBytes);
    }

    public FlashTierSettings withMaxBytes(long bytes) {
        return new FlashTierSettings(maxItems, bytes, policy, admission, probability, sync, threads, queueBytes,
                maxItemBytes, minFreeBytes);
    }

    public FlashTierSettings withAdmission(Admission.Kind kind, double chance) {
        return new FlashTierSettings(maxItems, maxBytes, policy, kind, chance, sync, threads, queueBytes, maxItemBytes,
                minFreeBytes);
    }

    public FlashTierSettings withSync(boolean synced) {
        return new FlashTierSettings(maxItems, maxBytes, policy, admission, probability, synced, threads, queueBytes,
                maxItemBytes, minFreeBytes);
    }

    public FlashTierSettings withQueueBytes(long bytes) {
        return new FlashTierSettings(maxItems, maxBytes, policy, admission, probability, sync, threads, bytes,
                maxItemBytes, minFreeBytes);
    }

    public FlashTierSettings withMinFreeBytes(long bytes) {
        return new FlashTierSettings(maxItems, maxBytes, policy, admission, probability, sync, threads, queueBytes,
                maxItemBytes, bytes);
    }

    public FlashTierSettings withThreads(int count) {
        return new FlashTierSettings(maxItems, maxBytes, policy, admission, probability, sync, count, queueBytes,
                maxItemBytes, minFreeBytes);
    }
}
