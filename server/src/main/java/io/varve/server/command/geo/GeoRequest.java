package io.varve.server.command.geo;

import io.varve.server.command.Invocation;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.geo.GeoArea;
import io.varve.server.geo.GeoHash;
import org.jspecify.annotations.Nullable;

/** What a search for places asks for. Confined to one command. */
final class GeoRequest {
    /** The commands that search, by where their arguments stand. */
    enum Form {
        SEARCH(1, 2), SEARCH_STORE(2, 3), RADIUS(1, 6), RADIUS_READ_ONLY(1, 6), RADIUS_BY_MEMBER(1,
                5), RADIUS_BY_MEMBER_READ_ONLY(1, 5);

        private final int source;
        private final int firstOption;

        Form(int source, int firstOption) {
            this.source = source;
            this.firstOption = firstOption;
        }

        /** The argument with the key that is searched. */
        int source() {
            return source;
        }

        private boolean isSearch() {
            return this == SEARCH || this == SEARCH_STORE;
        }

        private boolean mayStore() {
            return this == RADIUS || this == RADIUS_BY_MEMBER;
        }
    }

    /** The only way to a result without a set is an empty one: what it would be about does not matter. */
    private static final GeoArea NOWHERE = GeoArea.circle(0, 0, 0, 1);

    private final Form form;
    private GeoArea area = NOWHERE;
    private boolean withDistance;
    private boolean withHash;
    private boolean withCoordinates;
    private boolean any;
    private boolean sorted;
    private boolean descending;
    private boolean storesDistance;
    private long count;
    private int storeArgument;
    private boolean fromMember;
    private boolean fromPoint;
    private double longitude;
    private double latitude;
    private boolean byRadius;
    private boolean byBox;
    private double radius;
    private double width;
    private double height;
    private double unit = 1;

    GeoRequest(Form form) {
        this.form = form;
        storeArgument = form == Form.SEARCH_STORE ? 1 : 0;
    }

    /**
     * Reads the arguments.
     *
     * @param present whether there is a set; if not, members are not looked for
     * @return false after an error was replied
     */
    boolean read(Invocation call, SortedSetValue set, boolean present) {
        if (!readFixed(call, set, present)) {
            return false;
        }
        for (int i = form.firstOption; i < call.argumentCount();) {
            int taken = readOption(call, i, set, present);
            if (taken == 0) {
                return false;
            }
            i += taken;
        }
        String wrong = wrong(call);
        if (wrong != null) {
            call.reply().error(wrong);
            return false;
        }
        if (count > 0 && !any && !sorted) {
            // The nearest ones are meant.
            sorted = true;
        }
        area = byBox
                ? GeoArea.rectangle(longitude, latitude, width, height, unit)
                : GeoArea.circle(longitude, latitude, radius, unit);
        return true;
    }

    private boolean readFixed(Invocation call, SortedSetValue set, boolean present) {
        return switch (form) {
            case SEARCH, SEARCH_STORE -> true;
            case RADIUS, RADIUS_READ_ONLY -> readPoint(call, 2) && readRadius(call, 4);
            case RADIUS_BY_MEMBER, RADIUS_BY_MEMBER_READ_ONLY ->
                !present || readMember(call, 2, set) && readRadius(call, 3);
        };
    }

    private @Nullable String wrong(Invocation call) {
        if (storeArgument > 0 && details() > 0) {
            return "ERR " + (form == Form.SEARCH_STORE ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS")
                    + " is not compatible with WITHDIST, WITHHASH and WITHCOORD options";
        }
        if (form.isSearch() && !fromMember && !fromPoint) {
            return "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + call.argumentString(0);
        }
        if (form.isSearch() && !byRadius && !byBox) {
            return "ERR exactly one of BYRADIUS and BYBOX can be specified for " + call.argumentString(0);
        }
        return any && count == 0 ? "ERR the ANY argument requires COUNT argument" : null;
    }

    /** @return how many arguments were read; 0 after an error was replied */
    private int readOption(Invocation call, int i, SortedSetValue set, boolean present) {
        int left = call.argumentCount() - i - 1;
        if (call.argumentIs(i, "WITHDIST")) {
            withDistance = true;
        } else if (call.argumentIs(i, "WITHHASH")) {
            withHash = true;
        } else if (call.argumentIs(i, "WITHCOORD")) {
            withCoordinates = true;
        } else if (call.argumentIs(i, "ANY")) {
            any = true;
        } else if (call.argumentIs(i, "ASC") || call.argumentIs(i, "DESC")) {
            sorted = true;
            descending = call.argumentIs(i, "DESC");
        } else if (call.argumentIs(i, "COUNT") && left >= 1) {
            return readCount(call, i + 1) ? 2 : 0;
        } else if (form.mayStore() && left >= 1 && (call.argumentIs(i, "STORE") || call.argumentIs(i, "STOREDIST"))) {
            storesDistance = call.argumentIs(i, "STOREDIST");
            storeArgument = i + 1;
            return 2;
        } else if (form == Form.SEARCH_STORE && call.argumentIs(i, "STOREDIST")) {
            storesDistance = true;
        } else {
            return form.isSearch() ? readArea(call, i, left, set, present) : syntaxError(call);
        }
        return 1;
    }

    private int readArea(Invocation call, int i, int left, SortedSetValue set, boolean present) {
        if (call.argumentIs(i, "FROMMEMBER") && left >= 1 && !fromPoint) {
            fromMember = true;
            return !present || readMember(call, i + 1, set) ? 2 : 0;
        }
        if (call.argumentIs(i, "FROMLONLAT") && left >= 2 && !fromMember) {
            fromPoint = true;
            return readPoint(call, i + 1) ? 3 : 0;
        }
        if (call.argumentIs(i, "BYRADIUS") && left >= 2 && !byBox) {
            byRadius = true;
            return readRadius(call, i + 1) ? 3 : 0;
        }
        if (call.argumentIs(i, "BYBOX") && left >= 3 && !byRadius) {
            byBox = true;
            return readBox(call, i + 1) ? 4 : 0;
        }
        return syntaxError(call);
    }

    private static int syntaxError(Invocation call) {
        call.syntaxError();
        return 0;
    }

    private boolean readCount(Invocation call, int argument) {
        if (!call.requireLong(argument)) {
            return false;
        }
        count = call.longValue();
        if (count <= 0) {
            call.reply().error("ERR COUNT must be > 0");
            return false;
        }
        return true;
    }

    private boolean readPoint(Invocation call, int argument) {
        if (!GeoCommands.requirePlace(call, argument)) {
            return false;
        }
        longitude = GeoCommands.coordinate(call, argument);
        latitude = GeoCommands.coordinate(call, argument + 1);
        return true;
    }

    private boolean readMember(Invocation call, int argument, SortedSetValue set) {
        if (!set.find(call.argumentAddress(argument), call.argumentLength(argument))) {
            call.reply().error("ERR could not decode requested zset member");
            return false;
        }
        long bits = GeoHash.bitsOf(set.score());
        longitude = GeoHash.longitude(bits);
        latitude = GeoHash.latitude(bits);
        return true;
    }

    private boolean readRadius(Invocation call, int argument) {
        if (!call.requireDouble(argument, "ERR need numeric radius")) {
            return false;
        }
        radius = call.doubleValue();
        if (radius < 0) {
            call.reply().error("ERR radius cannot be negative");
            return false;
        }
        return readUnit(call, argument + 1);
    }

    private boolean readBox(Invocation call, int argument) {
        if (!call.requireDouble(argument, "ERR need numeric width")) {
            return false;
        }
        width = call.doubleValue();
        if (!call.requireDouble(argument + 1, "ERR need numeric height")) {
            return false;
        }
        height = call.doubleValue();
        if (height < 0 || width < 0) {
            call.reply().error("ERR height or width cannot be negative");
            return false;
        }
        return readUnit(call, argument + 2);
    }

    private boolean readUnit(Invocation call, int argument) {
        unit = GeoCommands.unit(call, argument);
        return unit >= 0;
    }

    // --- what was read

    GeoArea area() {
        return area;
    }

    boolean withDistance() {
        return withDistance;
    }

    boolean withHash() {
        return withHash;
    }

    boolean withCoordinates() {
        return withCoordinates;
    }

    /** How many things are told of each place beside its name. */
    int details() {
        return (withDistance ? 1 : 0) + (withHash ? 1 : 0) + (withCoordinates ? 1 : 0);
    }

    /** Whether the first ones that are found do. */
    boolean any() {
        return any;
    }

    /** Whether they are answered by their distance. */
    boolean sorted() {
        return sorted;
    }

    boolean descending() {
        return descending;
    }

    /** How many at most; 0: all. */
    long count() {
        return count;
    }

    /** The argument with the key to store them under; 0 if they are answered. */
    int storeArgument() {
        return storeArgument;
    }

    /** Whether their distances are stored as their scores. */
    boolean storesDistance() {
        return storesDistance;
    }
}
