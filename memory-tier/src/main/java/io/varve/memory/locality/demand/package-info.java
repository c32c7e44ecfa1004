/** Detection of periodic demand in the request rate of a class. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.locality.demand;
