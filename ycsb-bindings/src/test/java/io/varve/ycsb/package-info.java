/** Tests of the YCSB binding, alone and inside the stock client against a real Redis. */
@org.jspecify.annotations.NullMarked
package io.varve.ycsb;
