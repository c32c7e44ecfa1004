package io.varve.cluster.placement;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;

/** Members and maps for tests. Stateless. */
final class Members {
    private Members() {}

    /** A primary, by its number. */
    static Member member(int number, double weight) {
        return new Member(String.format(Locale.ROOT, "%040x", number), "127.0.0.1", 7000 + number, weight, null);
    }

    /** Primaries of weight 1, with the numbers from 0. */
    static List<Member> equal(int count) {
        List<Member> members = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            members.add(member(number, 1));
        }
        return members;
    }

    /** Primaries with these weights, with the numbers from 0. */
    static List<Member> weighted(double... weights) {
        List<Member> members = new ArrayList<>();
        for (int number = 0; number < weights.length; number++) {
            members.add(member(number, weights[number]));
        }
        return members;
    }

    /** From 1 to {@code most} primaries with weights of 0.25 to 4. */
    static List<Member> random(SplittableRandom random, int most) {
        List<Member> members = new ArrayList<>();
        int count = 1 + random.nextInt(most);
        for (int number = 0; number < count; number++) {
            members.add(member(number, 0.25 * (1 + random.nextInt(16))));
        }
        return members;
    }

    /** A map in which random members have random slots, and some slots have no owner. */
    static SlotMap randomMap(SplittableRandom random, List<Member> members) {
        SlotMap.Builder map = new SlotMap.Builder();
        members.forEach(map::member);
        double free = random.nextBoolean() ? 0 : random.nextDouble();
        int favourite = random.nextInt(members.size());
        for (int slot = 0; slot < HashSlot.COUNT; slot++) {
            if (random.nextDouble() >= free) {
                int owner = random.nextBoolean() ? favourite : random.nextInt(members.size());
                map.owner(slot, members.get(owner).id());
            }
        }
        return map.build(1);
    }

    static SlotMap map(SlotAssignment assignment) {
        return assignment.assignTo(new SlotMap.Builder()).build(1);
    }

    static List<Member> without(List<Member> members, Member leaver) {
        return members.stream().filter(member -> !member.equals(leaver)).toList();
    }

    static List<Member> with(List<Member> members, Member joiner) {
        List<Member> more = new ArrayList<>(members);
        more.add(joiner);
        return more;
    }
}
