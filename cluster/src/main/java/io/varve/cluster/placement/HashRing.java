package io.varve.cluster.placement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

import com.dynatrace.hash4j.hashing.Hashing;

/**
 * A consistent hash ring with virtual nodes, from 0 to 2<sup>64</sup> - 1. Immutable. Source: Song and Pu,
 * "Implementation and Evaluation of a Durable Distributed Key-Value Store", sections 3.1, 3.2 and 4.2.
 *
 * <p>A hash belongs to the first identifier that is not below it, clockwise. So a member owns the range from the
 * identifier before (excluded) to its own (included), and a join or a leave changes the ranges of that member only. If
 * two members have an identifier in common, it counts for the one with the lesser ID, whichever joined first.
 */
public final class HashRing {
    /** The ring without members. */
    public static final HashRing EMPTY = of(List.of());

    /** Ascending by ID, without duplicates. */
    private final List<VirtualNodes> members;
    /** Identifiers in ascending order; as in {@link VirtualNodes}, their signed order is that of the ring. */
    private final long[] identifiers;
    /** For each identifier the index of its member. */
    private final int[] owners;

    private HashRing(List<VirtualNodes> members, Part all) {
        this.members = members;
        identifiers = all.identifiers;
        owners = all.owners;
    }

    /** @throws IllegalArgumentException if a member occurs twice */
    public static HashRing of(Collection<VirtualNodes> members) {
        List<VirtualNodes> sorted = members.stream().sorted(Comparator.comparing(VirtualNodes::memberId)).toList();
        for (int i = 1; i < sorted.size(); i++) {
            if (sorted.get(i).memberId().equals(sorted.get(i - 1).memberId())) {
                throw new IllegalArgumentException("member " + sorted.get(i).memberId() + " is on the ring twice");
            }
        }
        return new HashRing(sorted, sorted.isEmpty()
                ? new Part(new long[0], new int[0])
                : Part.of(sorted, 0, sorted.size()));
    }

    /** The hash of a key. The paper uses FNV; this is XXH3, whose high bits, which a ring orders by, are as random. */
    public static long hash(byte[] key) {
        return Hashing.xxh3_64().hashBytesToLong(key);
    }

    /** Maps unsigned order to signed order, and back. */
    static long signed(long unsigned) {
        return unsigned ^ Long.MIN_VALUE;
    }

    /** The ring with another member, which takes a part of the ranges of others. */
    public HashRing with(VirtualNodes member) {
        List<VirtualNodes> more = new ArrayList<>(members);
        more.add(member);
        return of(more);
    }

    /** The ring without a member, whose ranges go to the members that follow them. */
    public HashRing without(String memberId) {
        return of(members.stream().filter(member -> !member.memberId().equals(memberId)).toList());
    }

    /** The members in ascending order of their IDs. */
    public List<VirtualNodes> members() {
        return members;
    }

    /** Number of identifiers of all members. */
    public int size() {
        return identifiers.length;
    }

    /**
     * The member that owns a hash.
     *
     * @throws IllegalStateException if the ring has no members
     */
    public String owner(long hash) {
        return members.get(ownerIndex(hash)).memberId();
    }

    /**
     * The index among {@link #members} of the member that owns a hash.
     *
     * @throws IllegalStateException if the ring has no members
     */
    public int ownerIndex(long hash) {
        if (identifiers.length == 0) {
            throw new IllegalStateException("the ring has no members");
        }
        return owners[next(hash)];
    }

    /**
     * The owner of a hash and the next distinct members clockwise: where the copies of a key are. Source: section
     * 3.4.1, which finds them with further hashes of the key; the ring's own order needs no retries.
     *
     * @param count number of members; if the ring has fewer, all of them
     */
    public List<String> owners(long hash, int count) {
        int wanted = Math.min(count, members.size());
        List<String> found = new ArrayList<>(Math.max(0, wanted));
        boolean[] isFound = new boolean[members.size()];
        for (int at = wanted > 0 ? next(hash) : 0; found.size() < wanted; at = at + 1 == owners.length ? 0 : at + 1) {
            if (!isFound[owners[at]]) {
                isFound[owners[at]] = true;
                found.add(members.get(owners[at]).memberId());
            }
        }
        return List.copyOf(found);
    }

    /** The index of the first identifier that is not below the hash; 0 beyond the last one. */
    private int next(long hash) {
        long wanted = signed(hash);
        int low = 0;
        int high = identifiers.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (identifiers[middle] < wanted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low == identifiers.length ? 0 : low;
    }

    /** The identifiers of some members in ascending order, with their owners. */
    private static final class Part {
        private final long[] identifiers;
        private final int[] owners;

        Part(long[] identifiers, int[] owners) {
            this.identifiers = identifiers;
            this.owners = owners;
        }

        /** Merges the halves, because sorted arrays of two primitive types have no sort in the JDK. */
        static Part of(List<VirtualNodes> members, int from, int to) {
            if (to - from == 1) {
                long[] own = members.get(from).sorted();
                int[] owners = new int[own.length];
                Arrays.fill(owners, from);
                return new Part(own, owners);
            }
            int middle = (from + to) >>> 1;
            return of(members, from, middle).merge(of(members, middle, to));
        }

        /** Of equal identifiers, this part's come first. */
        private Part merge(Part other) {
            long[] both = new long[identifiers.length + other.identifiers.length];
            int[] bothOwners = new int[both.length];
            int mine = 0;
            int theirs = 0;
            for (int i = 0; i < both.length; i++) {
                if (theirs == other.identifiers.length
                        || mine < identifiers.length && identifiers[mine] <= other.identifiers[theirs]) {
                    both[i] = identifiers[mine];
                    bothOwners[i] = owners[mine++];
                } else {
                    both[i] = other.identifiers[theirs];
                    bothOwners[i] = other.owners[theirs++];
                }
            }
            return new Part(both, bothOwners);
        }
    }
}
