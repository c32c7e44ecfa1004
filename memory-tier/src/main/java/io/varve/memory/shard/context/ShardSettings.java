package io.varve.memory.shard.context;

import io.varve.memory.eviction.AccessTranslation;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.segment.CleanerPolicy;
import org.jspecify.annotations.Nullable;

/**
 * The settings of all shards of a cache. Immutable: {@link ShardContext} replaces the whole record.
 *
 * @param evictionPolicy which items are evicted under pressure
 * @param evictionSamples items sampled for each eviction
 * @param cleanerPolicy how the cleaner rates segments
 * @param residenceEras how often the policy has become one that {@linkplain EvictionPolicy#countsSinceArrival counts
 *     since arrival}
 * @param policyBeforeResidence the policy before the last of those changes
 * @param translation converts access bits from before a policy change; null if all are of the present policy
 * @param secondary the tier to which evicted items are demoted; null if there is none
 * @param recorder the access recorder; null if accesses are not recorded
 * @param tracking the settings of penalty tracking; null if it is off
 * @param classes the number of penalty classes, whether tracked or not
 */
public record ShardSettings(EvictionPolicy evictionPolicy, int evictionSamples, CleanerPolicy cleanerPolicy,
        int residenceEras, EvictionPolicy policyBeforeResidence, @Nullable AccessTranslation translation,
        @Nullable SecondaryTier secondary, @Nullable AccessRecorder recorder, @Nullable PenaltyTracking tracking,
        int classes) {

    /** These settings after a change of the policies. */
    ShardSettings withPolicies(EvictionPolicy eviction, int samples, CleanerPolicy cleaner, long nowMillis) {
        boolean beginsEra = eviction.countsSinceArrival() && !evictionPolicy.countsSinceArrival();
        AccessTranslation changed = eviction == evictionPolicy
                ? translation
                : AccessTranslation.after(translation, evictionPolicy, eviction, nowMillis);
        return new ShardSettings(eviction, samples, cleaner, beginsEra ? residenceEras + 1 : residenceEras,
                beginsEra ? evictionPolicy : policyBeforeResidence, changed, secondary, recorder, tracking, classes);
    }

    ShardSettings withSecondary(SecondaryTier tier) {
        return new ShardSettings(evictionPolicy, evictionSamples, cleanerPolicy, residenceEras, policyBeforeResidence,
                translation, tier, recorder, tracking, classes);
    }

    ShardSettings withRecorder(@Nullable AccessRecorder wanted) {
        return new ShardSettings(evictionPolicy, evictionSamples, cleanerPolicy, residenceEras, policyBeforeResidence,
                translation, secondary, wanted, tracking, classes);
    }

    ShardSettings withTracking(@Nullable PenaltyTracking wanted) {
        return new ShardSettings(evictionPolicy, evictionSamples, cleanerPolicy, residenceEras, policyBeforeResidence,
                translation, secondary, recorder, wanted, classes);
    }

    ShardSettings withClasses(int number) {
        return new ShardSettings(evictionPolicy, evictionSamples, cleanerPolicy, residenceEras, policyBeforeResidence,
                translation, secondary, recorder, tracking, number);
    }
}
