package io.varve.memory.shard.item;

import java.util.SplittableRandom;

import io.varve.memory.eviction.AccessBits;
import io.varve.memory.eviction.AccessTranslation;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.eviction.Residence;
import io.varve.memory.eviction.ResidenceClock;
import io.varve.memory.item.Item;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Segments;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.context.ShardSettings;

/**
 * Reads and writes the access bits of a shard's items, as the present policy encodes them. Guarded by the shard's lock.
 *
 * <p>When residences replace clocks or minutes, the first tick lies just after the present time. Bits that another
 * policy left then look older than the era. Such an item counts as a new arrival when it is first met.
 */
public final class ItemAccess {
    private final ShardContext context;
    private final Segments segments;
    private final SplittableRandom random;
    private final ResidenceClock residence = new ResidenceClock();
    private int era;

    ItemAccess(ShardContext context, Segments segments, SplittableRandom random) {
        this.context = context;
        this.segments = segments;
        this.random = random;
    }

    /** The bits of a new item. */
    public int initial(long nowMillis) {
        return initial(context.settings(), nowMillis);
    }

    private int initial(ShardSettings settings, long nowMillis) {
        return AccessBits.initial(settings.evictionPolicy(), time(settings, nowMillis));
    }

    /** The bits of an item that replaces another of its key. Its residence began with the first. */
    public int replacing(long oldAddress, long nowMillis) {
        ShardSettings settings = context.settings();
        return settings.evictionPolicy().countsSinceArrival()
                ? Residence.touched(ofThisEra(settings, ItemLayout.access(oldAddress)), ticks(settings),
                        random.nextLong())
                : initial(settings, nowMillis);
    }

    /** Restores the bits that an item was demoted with; hyperbolic caching keeps nothing of items outside memory. */
    public void restore(long address, int bits) {
        if (!context.evictionPolicy().countsSinceArrival()) {
            ItemLayout.access(address, bits);
        }
    }

    /** This header with the access bits updated for an access. */
    public long touched(long header, long nowMillis) {
        ShardSettings settings = context.settings();
        EvictionPolicy policy = settings.evictionPolicy();
        int bits = ItemLayout.accessOf(header);
        if (!policy.countsAccesses()) {
            // A clock ignores the old bits and needs no random number.
            return ItemLayout.withAccess(header, AccessBits.touched(policy, bits, nowMillis, 0));
        }
        int known = policy.countsSinceArrival()
                ? ofThisEra(settings, bits)
                : translated(settings, bits, nowMillis);
        long chance = random.nextLong();
        return ItemLayout.withAccess(header, AccessBits.touched(policy, known, time(settings, nowMillis), chance));
    }

    /** Updates the access bits of an item with this header. */
    public void touch(long address, long header, long nowMillis) {
        long touched = touched(header, nowMillis);
        if (touched != header) {
            ItemLayout.header(address, touched);
        }
    }

    /**
     * How far the clock of a header is behind, in milliseconds, 0 if within the same second; under a policy that does
     * not count accesses. Needs no lock.
     */
    public long clockLagMillis(long header, long nowMillis) {
        ShardSettings settings = context.settings();
        int bits = ItemLayout.accessOf(header);
        if (settings.translation() != null && bits != initial(settings, nowMillis)) {
            // Perhaps no clock, but what another policy left.
            return Long.MAX_VALUE;
        }
        return AccessBits.idleMillis(bits, nowMillis);
    }

    /** {@link AccessBits#idleMillis}, or -1 if the policy keeps no clock. */
    public long idleMillis(Item item, long nowMillis) {
        ShardSettings settings = context.settings();
        EvictionPolicy policy = settings.evictionPolicy();
        return policy.countsFrequency() || policy.countsSinceArrival()
                ? -1
                : AccessBits.idleMillis(currentBits(settings, item.address(), nowMillis), nowMillis);
    }

    /** {@link AccessBits#frequency}, or -1 if the policy keeps none. */
    public int frequency(Item item, long nowMillis) {
        ShardSettings settings = context.settings();
        return settings.evictionPolicy().countsFrequency()
                ? AccessBits.frequency(currentBits(settings, item.address(), nowMillis), nowMillis)
                : -1;
    }

    /** The access bits of an item, a clock or a frequency, converted from an earlier policy's if necessary. */
    public int currentBits(long address, long nowMillis) {
        return currentBits(context.settings(), address, nowMillis);
    }

    private static int currentBits(ShardSettings settings, long address, long nowMillis) {
        return translated(settings, ItemLayout.access(address), nowMillis);
    }

    private static int translated(ShardSettings settings, int bits, long nowMillis) {
        AccessTranslation translation = settings.translation();
        return translation == null ? bits : translation.translate(bits, nowMillis);
    }

    /**
     * Sets {@link AccessBits#idle} or {@link AccessBits#counted}, as the policy keeps it; negative arguments are
     * ignored.
     */
    public void set(Item item, long idleSeconds, int frequency, long nowMillis) {
        ShardSettings settings = context.settings();
        EvictionPolicy policy = settings.evictionPolicy();
        boolean counts = policy.countsFrequency();
        if (counts && frequency >= 0) {
            ItemLayout.access(item.address(), AccessBits.counted(frequency, nowMillis));
        } else if (!counts && !policy.countsSinceArrival() && idleSeconds >= 0) {
            AccessTranslation translation = settings.translation();
            // A time before the change would be read as one that the previous policy has written.
            long max = translation == null ? Long.MAX_VALUE : translation.secondsSince(nowMillis);
            ItemLayout.access(item.address(), AccessBits.idle(Math.min(idleSeconds, max), nowMillis));
        }
    }

    /** The residence of an item that the evictor examines, halved if it is due. */
    public int residence(long address) {
        ShardSettings settings = context.settings();
        int bits = ItemLayout.access(address);
        int renewed = Residence.renewed(ofThisEra(settings, bits), ticks(settings));
        if (renewed != bits) {
            ItemLayout.access(address, renewed);
        }
        return renewed;
    }

    private long time(ShardSettings settings, long nowMillis) {
        return settings.evictionPolicy().countsSinceArrival() ? ticks(settings) : nowMillis;
    }

    /** The given residence, or that of a new item if the bits belong to another policy. */
    private int ofThisEra(ShardSettings settings, int bits) {
        long ticks = ticks(settings);
        return Residence.resident(bits, ticks) <= residence.passed() ? bits : Residence.begun(ticks);
    }

    public long ticks() {
        return ticks(context.settings());
    }

    private long ticks(ShardSettings settings) {
        int present = settings.residenceEras();
        if (present != era) {
            era = present;
            residence.begin(AccessBits.time(settings.policyBeforeResidence(), context.ticker.wallMillis()) + 1,
                    segments.bytesWritten());
        }
        return residence.ticks(segments.bytesWritten(), context.shardBytes());
    }
}
