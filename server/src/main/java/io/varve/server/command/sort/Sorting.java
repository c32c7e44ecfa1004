package io.varve.server.command.sort;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;
import io.varve.server.command.Workspace;
import io.varve.server.command.list.ListResult;
import io.varve.server.command.list.ListValue;
import io.varve.server.command.list.Lists;
import io.varve.server.command.set.SetValue;
import io.varve.server.command.set.Sets;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.command.sortedset.SortedSets;
import io.varve.server.command.value.MemberList;
import io.varve.server.command.value.TextMemory;
import io.varve.server.events.KeyEvent;
import io.varve.server.resp.DoubleReader;

/**
 * How SORT runs: the elements are noted, then what decides about each, then they are sorted, and the answer is made of them. Confined to
 * its event loop; reused from command to command, each of which gives the memory back.
 *
 * <p>The shards of all keys that it looks at are locked, of all keys there are where BY or GET lead to some. A SORT of many elements
 * copies what it needs of them and lets others have the shards in between: it is then a walk, as SCAN is, and what BY and GET find may
 * have changed since. One that stores its result, and one within a transaction, never does.
 */
final class Sorting {
    private static final Workspace<Sorting> WORKSPACE = Workspace.madeBy(_ -> new Sorting());

    /** So many look-ups are done before others get the shards: some hundred microseconds. */
    private static final int LOOKUPS_AT_ONCE = 1 << 10;
    /** A SORT of so many elements or look-ups sees all of them at one time. */
    private static final long MOST_AT_ONCE = 1 << 13;
    private static final int NO_TEXT = -1;
    private static final String NO_NUMBER = "ERR One or more scores can't be converted into double";

    private final Item item = new Item();
    /** The elements; the hash is the length of the text that decides, the note its address. */
    private final MemberList elements = new MemberList();
    private final MemberList results = new MemberList();
    private final TextMemory texts = new TextMemory();
    private final SortLookup lookup = new SortLookup();
    private final ListResult result = new ListResult();
    private boolean copies;
    /** Whether the elements have an order of their own. */
    private boolean ordered;
    private int lookups;
    private long storedBytes;

    /** That of an invocation. */
    static Sorting of(Invocation call) {
        return WORKSPACE.of(call);
    }

    void run(Invocation call, SortRequest request) {
        copies = false;
        lookups = 0;
        storedBytes = 0;
        if (!collect(call, request)) {
            return;
        }
        if (!request.unsorted() && !sort(call, request)) {
            call.reply().error(NO_NUMBER);
            return;
        }
        // Those of a list or a sorted set that is not sorted are the ones that were asked for already.
        long from = request.unsorted() && ordered ? 0 : request.from(elements.count());
        long to = request.unsorted() && ordered ? elements.count() : request.to(elements.count());
        if (request.storeArgument() > 0) {
            store(call, request, (int) from, (int) to);
        } else {
            reply(call, request, (int) from, (int) to);
        }
        call.requireAllFetched();
    }

    /**
     * What to make room for when there was none for a part of it: all that is held is given back before the command runs again, and will
     * hardly have been all that it needs. A result that is stored takes about as much as what is sorted.
     */
    CacheFullException inAll(CacheFullException full) {
        return full
                .inAll(2 * (full.bytes() + elements.heldBytes() + results.heldBytes() + texts.heldBytes()
                        + storedBytes));
    }

    void release() {
        elements.release();
        results.release();
        texts.release();
        lookup.release();
    }

    // --- elements

    /** @return false after an error was replied */
    private boolean collect(Invocation call, SortRequest request) {
        Key key = call.keyAt(0);
        ordered = true;
        // The look that counts is left to the view of its type.
        boolean there = call.session().peek(key, item);
        storedBytes = there && request.storeArgument() > 0 ? call.session().memoryUsage(item) : 0;
        switch (there ? item.type() : ItemType.STRING) {
            case LIST -> collectList(call, request, key);
            case SORTED_SET -> collectSortedSet(call, request, key);
            case SET -> collectSet(call, request, key);
            default -> {
                if (call.session().find(key, item)) {
                    call.wrongType();
                    return false;
                }
            }
        }
        return true;
    }

    private void begin(Invocation call, SortRequest request, long size, long wanted) {
        long all = size * (1 + (request.sortsByPattern() ? 1 : 0)) + wanted * request.getCount();
        copies = all > MOST_AT_ONCE && request.storeArgument() == 0 && !call.isInTransaction();
        elements.expect(call.cache(), wanted);
    }

    private void collectList(Invocation call, SortRequest request, Key key) {
        ListValue list = Lists.of(call).first();
        list.find(key);
        long size = list.length();
        long from = request.unsorted() ? request.from(size) : 0;
        long to = request.unsorted() ? request.to(size) : size;
        begin(call, request, size, to - from);
        boolean backwards = request.unsorted() && request.descending();
        if (from < to) {
            list.seek(backwards ? size - 1 - from : from);
        }
        for (long left = to - from; left > 0; left--) {
            add(call, list.elementAddress(), list.elementLength(), copies);
            boolean more = backwards ? list.previous() : list.next();
            assert more || left == 1;
        }
    }

    private void collectSortedSet(Invocation call, SortRequest request, Key key) {
        SortedSetValue set = SortedSets.of(call).set();
        set.open(call, key);
        long size = set.size();
        long from = request.unsorted() ? request.from(size) : 0;
        long to = request.unsorted() ? request.to(size) : size;
        begin(call, request, size, to - from);
        boolean backwards = request.unsorted() && request.descending();
        boolean more = from < to && set.seek(backwards ? size - 1 - from : from);
        for (long left = to - from; left > 0 && more; left--) {
            add(call, set.memberAddress(), set.memberLength(), copies);
            more = backwards ? set.previous() : set.next();
        }
    }

    private void collectSet(Invocation call, SortRequest request, Key key) {
        SetValue set = Sets.of(call).first();
        set.open(call, key);
        if (request.unsorted() && request.storeArgument() > 0) {
            request.sortByElements();
        }
        ordered = false;
        begin(call, request, set.size(), set.size());
        for (boolean more = set.first(); more; more = set.next()) {
            // Integers have no bytes of their own.
            add(call, set.memberAddress(), set.memberLength(), copies || set.hasIntegers());
        }
    }

    private void add(Invocation call, long address, int length, boolean copied) {
        long at = copied ? texts.add(call.cache(), address, length) : address;
        elements.add(call.cache(), at, length, NO_TEXT, 0);
    }

    // --- order

    /** @return false if something is to be a number and is none */
    private boolean sort(Invocation call, SortRequest request) {
        boolean numbers = true;
        for (int i = 0; i < elements.count(); i++) {
            if (!request.sortsByPattern()) {
                numbers &= request.alphabetic() || weigh(i, elements.address(i), elements.length(i));
            } else if (look(call, request.byArgument(), i)) {
                numbers &= request.alphabetic()
                        ? decideBy(call, i, lookup.address(), lookup.length())
                        : weigh(i, lookup.address(), lookup.length());
            }
        }
        call.requireAllFetched();
        if (numbers) {
            MemberList.Order order = !request.sortsByPattern() || !request.alphabetic()
                    ? request.descending() ? MemberList.Order.SCORE_DESCENDING : MemberList.Order.SCORE
                    : request.descending() ? MemberList.Order.TEXT_DESCENDING : MemberList.Order.TEXT;
            if (copies) {
                call.letOthers(() -> elements.sort(call.cache(), order));
            } else {
                elements.sort(call.cache(), order);
            }
        }
        return numbers;
    }

    private boolean weigh(int element, long address, int length) {
        double weight = DoubleReader.parseWeight(address, length);
        elements.score(element, weight);
        return !Double.isNaN(weight);
    }

    private boolean decideBy(Invocation call, int element, long address, int length) {
        elements.hash(element, length);
        elements.note(element, copies ? texts.add(call.cache(), address, length) : address);
        return true;
    }

    private boolean look(Invocation call, int argument, int element) {
        if (copies && ++lookups % LOOKUPS_AT_ONCE == 0) {
            call.letOthers(() -> {});
        }
        return lookup.find(call, argument, elements.address(element), elements.length(element));
    }

    // --- answer

    private void reply(Invocation call, SortRequest request, int from, int to) {
        int gets = request.getCount();
        call.reply().array((to - from) * Math.max(1L, gets));
        for (int place = from; place < to; place++) {
            int element = elements.inOrder(place);
            if (gets == 0) {
                call.reply().bulk(elements.address(element), elements.length(element));
            }
            for (int i = 0; i < gets; i++) {
                int argument = request.getArgument(i);
                if (look(call, argument, element)) {
                    lookup.reply(call, argument);
                } else {
                    call.reply().nil();
                }
            }
        }
    }

    private void store(Invocation call, SortRequest request, int from, int to) {
        int gets = request.getCount();
        results.expect(call.cache(), (to - from) * Math.max(1L, gets));
        for (int place = from; place < to; place++) {
            int element = elements.inOrder(place);
            if (gets == 0) {
                results.add(call.cache(), elements.address(element), elements.length(element), 0, 0);
            }
            for (int i = 0; i < gets; i++) {
                boolean there = look(call, request.getArgument(i), element);
                results.add(call.cache(), there ? lookup.address() : elements.address(element),
                        there ? lookup.length() : 0, 0, 0);
            }
        }
        call.requireAllFetched();
        result.store(call, call.key(request.storeArgument()), results, KeyEvent.SORTSTORE);
        call.reply().integer(results.count());
    }
}
