package io.varve.memory.shard;

import java.util.SplittableRandom;

import io.varve.memory.eviction.AccessBits;
import io.varve.memory.eviction.AccessTranslation;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.eviction.Residence;
import io.varve.memory.eviction.ResidenceClock;
import io.varve.memory.item.Item;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Segments;

/**
 * The access bits of a shard's items, as the policy of now keeps them. Guarded by the shard's lock.
 *
 * <p>Where a residence takes the place of a clock or a minute, its ticks begin just behind the time of then, so that what another policy has
 * left looks older than the era is. Such an item counts as one that comes when it is met first.
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

    /** The bits of an item that comes. */
    int initial(long nowMillis) {
        EvictionPolicy policy = context.evictionPolicy;
        return AccessBits.initial(policy, time(policy, nowMillis));
    }

    /** The bits of an item that takes the place of another of its key, which has been in memory since that came. */
    int replacing(long oldAddress, long nowMillis) {
        return context.evictionPolicy.countsSinceArrival()
                ? Residence.touched(ofThisEra(ItemLayout.access(oldAddress)), ticks(), random.nextLong())
                : initial(nowMillis);
    }

    /** Takes over the bits that an item fell with; of what has left memory, hyperbolic caching keeps nothing. */
    void restore(long address, int bits) {
        if (!context.evictionPolicy.countsSinceArrival()) {
            ItemLayout.access(address, bits);
        }
    }

    /** The header of an item that is accessed now, for one with this header. */
    long touched(long header, long nowMillis) {
        EvictionPolicy policy = context.evictionPolicy;
        int bits = ItemLayout.accessOf(header);
        if (!policy.countsAccesses()) {
            // A clock forgets what was, and asks for no chance.
            return ItemLayout.withAccess(header, AccessBits.touched(policy, bits, nowMillis, 0));
        }
        int known = policy.countsSinceArrival() ? ofThisEra(bits) : translated(bits, nowMillis);
        long chance = random.nextLong();
        return ItemLayout.withAccess(header, AccessBits.touched(policy, known, time(policy, nowMillis), chance));
    }

    /** {@link AccessBits#idleMillis}, or -1 if the policy keeps no clock. */
    public long idleMillis(Item item, long nowMillis) {
        EvictionPolicy policy = context.evictionPolicy;
        return policy.countsFrequency() || policy.countsSinceArrival()
                ? -1
                : AccessBits.idleMillis(known(item.address(), nowMillis), nowMillis);
    }

    /** {@link AccessBits#frequency}, or -1 if the policy keeps none. */
    public int frequency(Item item, long nowMillis) {
        return context.evictionPolicy.countsFrequency()
                ? AccessBits.frequency(known(item.address(), nowMillis), nowMillis)
                : -1;
    }

    /** The access bits of an item, which the policy before may have written, as the present one would have them: a clock or a frequency. */
    int known(long address, long nowMillis) {
        return translated(ItemLayout.access(address), nowMillis);
    }

    private int translated(int bits, long nowMillis) {
        AccessTranslation translation = context.translation;
        return translation == null ? bits : translation.translate(bits, nowMillis);
    }

    /** Sets {@link AccessBits#idle} or {@link AccessBits#counted}, as the policy keeps it; what is negative is not said. */
    public void set(Item item, long idleSeconds, int frequency, long nowMillis) {
        EvictionPolicy policy = context.evictionPolicy;
        boolean counts = policy.countsFrequency();
        if (counts && frequency >= 0) {
            ItemLayout.access(item.address(), AccessBits.counted(frequency, nowMillis));
        } else if (!counts && !policy.countsSinceArrival() && idleSeconds >= 0) {
            AccessTranslation translation = context.translation;
            // A time before the change would be read as one that the policy before has written.
            long most = translation == null ? Long.MAX_VALUE : translation.secondsSince(nowMillis);
            ItemLayout.access(item.address(), AccessBits.idle(Math.min(idleSeconds, most), nowMillis));
        }
    }

    /** The residence of an item that the evictor looks at, renewed if it is time for that. */
    int residence(long address) {
        int bits = ItemLayout.access(address);
        int renewed = Residence.renewed(ofThisEra(bits), ticks());
        if (renewed != bits) {
            ItemLayout.access(address, renewed);
        }
        return renewed;
    }

    private long time(EvictionPolicy policy, long nowMillis) {
        return policy.countsSinceArrival() ? ticks() : nowMillis;
    }

    /** A residence; that of an item which comes now, if these are the bits of another policy. */
    private int ofThisEra(int bits) {
        long ticks = ticks();
        return Residence.resident(bits, ticks) <= residence.passed() ? bits : Residence.begun(ticks);
    }

    long ticks() {
        int present = context.residenceEras;
        if (present != era) {
            era = present;
            residence.begin(AccessBits.time(context.beforeResidence, context.ticker.wallMillis()) + 1,
                    segments.bytesWritten());
        }
        return residence.ticks(segments.bytesWritten(), context.shardBytes());
    }
}
