! The binding beside Fortran's own reshape, sections and vector subscripts.
program faro_test
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  use faro
  implicit none
  integer :: failures = 0

  call orders_of_three
  call sections
  call types_and_ranks
  call rows
  call plans
  call refusals
  if (failures > 0) error stop 1
  print "(a)", "faro " // faro_version() // " in Fortran: all is right"

contains

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    failures = failures + 1
    print "(2a)", "wrong: ", what
  end subroutine expect

  subroutine orders_of_three
    integer, parameter :: orders(3, 6) = reshape([1, 2, 3, 1, 3, 2, 2, 1, 3, 2, 3, 1, 3, 1, 2, 3, 2, 1], [3, 6])
    integer :: a(37, 5, 41), i, s(3)
    integer, allocatable :: b(:, :, :)

    a = reshape([(i, i=1, size(a))], shape(a))
    do i = 1, 6
      s = shape(a)
      s = s(orders(:, i))
      allocate (b(s(1), s(2), s(3)))
      call faro_permute_dims(a, orders(:, i), b)
      call expect(all(b == reordered(a, orders(:, i))), "an order of three dimensions")
      deallocate (b)
    end do
  end subroutine orders_of_three

  !> By the definition, element by element.
  pure function reordered(a, order) result(b)
    integer, intent(in) :: a(:, :, :), order(3)
    integer, allocatable :: b(:, :, :)
    integer :: s(3), x(3), i, j, k
    s = shape(a)
    s = s(order)
    allocate (b(s(1), s(2), s(3)))
    do k = 1, size(a, 3)
      do j = 1, size(a, 2)
        do i = 1, size(a, 1)
          x = [i, j, k]
          x = x(order)
          b(x(1), x(2), x(3)) = a(i, j, k)
        end do
      end do
    end do
  end function reordered

  subroutine sections
    real(real64) :: a(30, 40), b(50, 60)
    integer :: i
    a = reshape([(real(i, real64), i=1, size(a))], shape(a))
    b = -1
    call faro_permute_dims(a(29:1:-2, 3:40:3), [2, 1], b(2:14, 60:32:-2))
    call expect(all(b(2:14, 60:32:-2) == transpose(a(29:1:-2, 3:40:3))), "a section that goes backwards")
    call expect(count(b == -1) == size(b) - 13 * 15, "what lies between a section's elements stays")
  end subroutine sections

  subroutine types_and_ranks
    complex(real64) :: z(6, 7), w(7, 6)
    character(3) :: c(4, 5), d(5, 4)
    integer(int8) :: p(2, 3, 2, 3, 2), q(2, 3, 2, 3, 2)
    real :: none(0, 3), gone(3, 0), one, other
    integer :: i
    z = reshape([(cmplx(i, -i, real64), i=1, size(z))], shape(z))
    call faro_permute_dims(z, [2, 1], w)
    call expect(all(w == transpose(z)), "complex numbers")
    c = reshape([(achar(64 + i) // "xy", i=1, size(c))], shape(c))
    call faro_permute_dims(c, [2, 1], d, threads=1)
    call expect(all(d == transpose(c)), "characters of three")
    p = reshape([(int(i, int8), i=1, size(p))], shape(p))
    call faro_permute_dims(p, [5, 4, 3, 2, 1], q)
    call expect(q(2, 3, 1, 2, 1) == p(1, 2, 1, 3, 2), "five dimensions")
    call faro_permute_dims(none, [2, 1], gone)
    one = 3
    call faro_permute_dims(one, [integer ::], other)
    call expect(other == 3, "a scalar")
  end subroutine types_and_ranks

  subroutine rows
    real :: a(3, 2, 50), b(3, 2, 7)
    integer :: i, few(7) = [50, 1, 1, 7, 49, 2, 30]
    integer(int64) :: many(14)
    a = reshape([(real(i), i=1, size(a))], shape(a))
    call faro_take(a, few, b)
    call expect(all(b == a(:, :, few)), "rows by integers of 4 bytes")
    many = 9
    many(1::2) = few
    call faro_take(a, many(1::2), b)
    call expect(all(b == a(:, :, few)), "rows by a section of integers of 8 bytes")
  end subroutine rows

  subroutine plans
    type(faro_plan) :: plan
    complex(real64) :: x(1024), y(1024)
    real :: a(60, 80), b(80, 60), flat(4800)
    integer :: i
    x = [(cmplx(i, 0, real64), i=0, 1023)]
    call plan%make("bit_reversal(10)", x)
    call plan%run(x, y)
    call expect(real(y(2)) == 512 .and. real(y(4)) == 768, "bit reversal")
    call expect(index(plan%explain(), "bit_reversal(10)") > 0, "an explanation")
    call plan%make("transpose(80, 60)", a)
    a = reshape([(real(i), i=1, size(a))], shape(a))
    call plan%run(a, b)
    call expect(all(b == transpose(a)), "a text sees the last dimension first")
    call plan%make("transpose(80, 60)", a, in_place=.true.)
    flat = reshape(a, [4800])
    call plan%run_in_place(flat)
    call expect(all(flat == reshape(b, [4800])), "in place")
  end subroutine plans

  subroutine refusals
    type(faro_plan) :: plan
    real :: a(4, 6), b(6, 4), c(5, 5)
    integer :: status, rows(2) = [1, 7]
    character(500) :: message
    b = -1
    message = ""
    call faro_permute_dims(a, [2, 1], c, stat=status, errmsg=message)
    call expect(status == 4 .and. index(message, "wanted 6") > 0, "another shape: " // trim(message))
    call faro_permute_dims(a, [1, 1], b, stat=status, errmsg=message)
    call expect(status == 4 .and. index(message, "each of 1 to 2 once") > 0, "an order with a dimension twice: " // trim(message))
    call faro_permute_dims(a, [1, 2, 3], b, stat=status, errmsg=message)
    call expect(status == 4, "an order of another length")
    call faro_take(a, rows, b(1:4, 1:2), stat=status, errmsg=message)
    call expect(status == 4, "rows of a section")
    call faro_take(a, rows, c(1:4, 1:2), stat=status, errmsg=message)
    call expect(status /= 0, "a row that is not there")
    call faro_take(a, [1.0, 2.0], c(1:4, 1:2), stat=status, errmsg=message)
    call expect(index(message, "integers of 4 or 8 bytes") > 0, "rows that are no integers: " // trim(message))
    call plan%make("bit_reversal(3", a, stat=status, errmsg=message)
    call expect(status == 3 .and. len_trim(message) > 0, "a text that cannot be read: " // trim(message))
    call plan%run(a, b, stat=status, errmsg=message)
    call expect(status == 4, "a plan that was not made")
    call expect(all(b == -1), "nothing is written")
  end subroutine refusals
end program faro_test
